"""The way in: HTTP and event streams for people, browsers and scripts. It keeps nothing and decides nothing."""
