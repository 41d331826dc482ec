"""Sign-in with the organisation's identity provider (OpenID Connect)."""
