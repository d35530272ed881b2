#!/bin/sh
# Write a random password for PostgreSQL into .env, which git ignores and docker compose reads.
# Does nothing where one stands there already: the database keeps the password it was made with.
set -eu
cd "$(dirname "$0")/.."
if grep -q '^POSTGRES_PASSWORD=.' .env 2>/dev/null; then
  echo ".env has a password for PostgreSQL already: it stays."
  exit 0
fi
umask 077
password=$(od -An -v -N24 -tx1 /dev/urandom | tr -d ' \n')
printf 'POSTGRES_PASSWORD=%s\n' "$password" >> .env
echo "Wrote a password for PostgreSQL into .env."
