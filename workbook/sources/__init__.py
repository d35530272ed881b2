"""Sources for Spark that stand by themselves: nothing here needs the rest of the package."""
