"""Six tables about films in PostgreSQL, and what happens to them."""

from __future__ import annotations

from typing import Final

TABLES: Final = ("actor", "category", "film", "film_actor", "film_category", "language")

CREATE: Final = """
CREATE TYPE rating AS ENUM ('G', 'PG', 'PG-13', 'R', 'NC-17');
CREATE TABLE language (
  language_id int PRIMARY KEY, name text NOT NULL, last_update timestamptz NOT NULL DEFAULT now());
CREATE TABLE category (
  category_id serial PRIMARY KEY, name text NOT NULL,
  last_update timestamptz NOT NULL DEFAULT now());
CREATE TABLE actor (
  actor_id int PRIMARY KEY, first_name text NOT NULL, last_name text NOT NULL,
  last_update timestamptz NOT NULL DEFAULT now());
CREATE TABLE film (
  film_id int PRIMARY KEY, title text NOT NULL, description text, release_year int,
  language_id int NOT NULL REFERENCES language, rental_duration int NOT NULL DEFAULT 3,
  rental_rate numeric(4, 2) NOT NULL DEFAULT 4.99, length int,
  replacement_cost numeric(5, 2) NOT NULL DEFAULT 19.99, rating rating DEFAULT 'G',
  special_features text[], last_update timestamptz NOT NULL DEFAULT now());
CREATE TABLE film_actor (
  actor_id int REFERENCES actor, film_id int REFERENCES film,
  last_update timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (actor_id, film_id));
CREATE TABLE film_category (
  film_id int REFERENCES film, category_id int REFERENCES category,
  last_update timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (film_id, category_id));

INSERT INTO language VALUES (1, 'English'), (2, 'Italian'), (3, 'Japanese');
INSERT INTO category (name) VALUES ('Action'), ('Classics'), ('Documentary'), ('Drama');
INSERT INTO actor VALUES
  (1, 'IDA', 'BERG'), (2, 'OTTO', 'LINDE'), (3, 'MAYA', 'STONE'), (4, 'NILS', 'VOSS'),
  (5, 'RUTH', 'KAY'), (6, 'TOM', 'HILL');
INSERT INTO film VALUES
  (1, 'THE LAST FERRY', 'A captain and a river', 2006, 1, 6, 0.99, 86, 20.99, 'PG',
    '{Deleted Scenes,Behind the Scenes}'),
  (2, 'GOLD IN THE ATTIC', 'Two heirs and one key', 2006, 1, 6, 4.99, 48, 12.99, 'G', '{Trailers}'),
  (3, 'HOLES IN THE ICE', 'A winter on a lake', 2006, 1, 7, 2.99, 50, 18.99, 'NC-17', NULL),
  (4, 'A QUIET AFFAIR', 'Letters that were never sent', 2006, 1, 5, 2.99, 117, 26.99, 'G', NULL),
  (5, 'NORTH OF THE DESERT', 'A baker crosses the sand', 2006, 1, 6, 2.99, 130, 22.99, 'G', NULL);
INSERT INTO film (film_id, title, release_year, language_id, rating)
  SELECT n, 'FILM ' || n, 2006, 1, 'R' FROM generate_series(6, 400) AS n;
INSERT INTO film_actor (actor_id, film_id) VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 375), (6, 5);
INSERT INTO film_category (film_id, category_id) VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 1);
"""
FIRST: Final = """
INSERT INTO category (name) VALUES ('Techno Thriller');
UPDATE film SET release_year = 2021, rental_rate = 2.99 WHERE film_id = 1;
UPDATE film SET rental_duration = 3 WHERE film_id = 2;
UPDATE film_category SET category_id = (
  SELECT category_id FROM category WHERE name = 'Techno Thriller') WHERE film_id = 3;
UPDATE actor SET first_name = upper('Kate'), last_name = upper('Winter') WHERE actor_id = 6;
DELETE FROM film_actor WHERE film_id = 375;
"""
SECOND: Final = """
UPDATE film SET release_year = 2019, rental_rate = 3.99 WHERE film_id = 1;
UPDATE film SET rental_duration = 4 WHERE film_id = 2;
UPDATE film SET rental_duration = 7 WHERE film_id = 2;
INSERT INTO category (name) VALUES ('Steampunk');
UPDATE film_category SET category_id = (
  SELECT category_id FROM category WHERE name = 'Steampunk') WHERE film_id = 3;
UPDATE film SET release_year = 2017, rental_rate = 3.99 WHERE film_id = 4;
UPDATE film_actor SET film_id = 100 WHERE film_id = 5;
UPDATE film_category SET film_id = 100 WHERE film_id = 5;
DELETE FROM film WHERE film_id = 5;
"""
