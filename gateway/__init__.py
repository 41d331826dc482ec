"""The gateway: HTTP and event streams for people, browsers and scripts. It stores nothing and makes no decisions."""
