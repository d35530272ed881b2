"""Runs the command line: ``python -m workbook`` is the lab without make."""

from workbook.cli.main import main

raise SystemExit(main())
