"""
The twenty words that tell spam from ham
========================================

5,574 text messages come with the package. Which twenty words tell spam from ham best, and
can any other twenty do better?
"""
