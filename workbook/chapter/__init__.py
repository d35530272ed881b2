"""What a notebook needs besides Kafka's client and Spark: topics, a shop, visitors, charts."""

from workbook.chapter.chapter import Chapter

__all__ = ["Chapter"]
