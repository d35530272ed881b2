"""Exercises of chapter 01: how many page views were there?"""

from workbook.lessons.page_view_counter.on_spark import on_spark
from workbook.lessons.page_view_counter.one_step import one_step
from workbook.views import pipeline as draw

clicks = draw.topic("clicks")

paths = (
    (
        draw.producer("shop"),
        clicks,
        draw.loop("count_page_views", state="count"),
        draw.sink("shown", "widget"),
    ),
    (clicks, draw.query("views_per_name", state="checkpoint"), draw.sink("views")),
)

problems = (one_step, on_spark)
