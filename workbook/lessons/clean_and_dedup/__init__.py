"""The exercises of chapter 40: which events count?"""
