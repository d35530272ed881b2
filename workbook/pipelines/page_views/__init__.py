"""How many page views were there?"""
