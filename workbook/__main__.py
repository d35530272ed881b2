"""``python -m workbook``: the lab without make."""

from workbook.cli import main

raise SystemExit(main())
