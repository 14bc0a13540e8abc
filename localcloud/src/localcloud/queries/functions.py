"""The functions of Trino that queries may call, and how DuckDB says them.

| table | a function of Trino is |
| --- | --- |
| `SAME` | DuckDB's function of that name |
| `RENAMED` | DuckDB's function of another name |
| `MACROS` | an expression: parameters and text of a macro, which DuckDB has as `trino_NAME` |
| `CASTS` | no function: what casts are made of, macros too |
| `PATTERNS` | a function whose last argument is a pattern, which `translation` translates |

Expected values are Trino's: "Functions and operators" of its documentation, in the tests.
"""

from __future__ import annotations

SAME = frozenset(
    """abs acos any_value array_agg asin atan atan2 avg bool_and bool_or cbrt ceil ceiling chr
    coalesce concat_ws corr cos cosh count count_if covar_pop covar_samp cume_dist day degrees
    dense_rank exp first_value flatten floor from_base64 grouping histogram hour kurtosis lag
    last_value lead length ln log10 log2 lower lpad ltrim map map_concat map_entries
    map_from_entries map_keys map_values max min minute mod month nth_value ntile now nullif
    percent_rank pi pow power quarter radians random rank reverse round row row_number rpad rtrim
    second sin skewness sqrt starts_with stddev stddev_pop stddev_samp strpos substr sum tan tanh
    to_base64 translate trim try upper url_decode url_encode uuid var_pop var_samp variance week
    year""".split()
)

RENAMED = {
    "approx_distinct": "approx_count_distinct",
    "approx_percentile": "approx_quantile",
    "arbitrary": "any_value",
    "array_distinct": "list_distinct",
    "array_intersect": "list_intersect",
    "array_join": "array_to_string",
    "array_max": "list_max",
    "array_min": "list_min",
    "arrays_overlap": "list_has_any",
    "bitwise_and_agg": "bit_and",
    "bitwise_or_agg": "bit_or",
    "contains": "list_contains",
    "every": "bool_and",
    "filter": "list_filter",
    "from_hex": "unhex",
    "from_utf8": "decode",
    "geometric_mean": "geomean",
    "is_infinite": "isinf",
    "is_nan": "isnan",
    "levenshtein_distance": "levenshtein",
    "max_by": "arg_max_null",
    "min_by": "arg_min_null",
    "rand": "random",
    "regexp_like": "regexp_matches",
    "sequence": "generate_series",
    "split": "string_split",
    "to_hex": "hex",
    "to_utf8": "encode",
    "transform": "list_transform",
    "truncate": "trunc",
    "zip": "list_zip",
}

# JSON that is not valid is null to Trino's functions; DuckDB's fail.
_JSON = "CASE WHEN json_valid(j) THEN j END"
_URL = "^[a-zA-Z][a-zA-Z0-9+.-]*://"

MACROS = {
    "array_except": "(a, b) AS list_distinct(list_filter(a, LAMBDA e : NOT list_contains(b, e)))",
    "array_position": "(a, x) AS coalesce(list_position(a, x), 0)",
    "array_remove": "(a, x) AS list_filter(a, LAMBDA e : e <> x)",
    "array_sort": "(a) AS list_sort(a, 'ASC', 'NULLS LAST')",
    "array_union": "(a, b) AS list_distinct(list_concat(a, b))",
    "bitwise_and": "(a, b) AS a & b",
    "bitwise_or": "(a, b) AS a | b",
    "bitwise_xor": "(a, b) AS xor(a, b)",
    # DuckDB has one function for arrays and one for maps, and binds both sides of a CASE.
    "cardinality": "(c) AS CAST(CASE WHEN c IS NULL THEN NULL WHEN typeof(c) LIKE 'MAP(%)' "
    "THEN len(json_keys(to_json(c))) ELSE json_array_length(to_json(c)) END AS BIGINT)",
    "codepoint": "(s) AS unicode(s)",
    "date": "(x) AS CAST(x AS DATE)",
    "date_add": "(unit, n, x) AS cast_to_type(x + CAST('1 ' || unit AS INTERVAL) * n, x)",
    # DuckDB's own date_diff counts the boundaries between two moments, its date_sub whole units.
    "date_diff": "(unit, a, b) AS date_sub(unit, a, b)",
    "date_trunc": "(unit, x) AS cast_to_type(date_trunc(unit, x), x)",
    "day_of_month": "(x) AS day(x)",
    "day_of_week": "(x) AS isodow(x)",
    "day_of_year": "(x) AS dayofyear(x)",
    "dow": "(x) AS isodow(x)",
    "doy": "(x) AS dayofyear(x)",
    "element_at": "(c, k) AS c[k]",
    "from_iso8601_date": "(s) AS CAST(s AS DATE)",
    "from_iso8601_timestamp": "(s) AS CAST(s AS TIMESTAMP WITH TIME ZONE)",
    "from_unixtime": "(x) AS to_timestamp(x)",
    "infinity": "() AS CAST('Infinity' AS DOUBLE)",
    "is_finite": "(x) AS isfinite(x)",
    "json_array_length": f"(j) AS CAST(json_array_length({_JSON}) AS BIGINT)",
    "json_extract": f"(j, path) AS json_extract({_JSON}, path)",
    "json_extract_scalar": f"(j, path) AS CASE WHEN json_type({_JSON}, path) NOT IN "
    f"('OBJECT', 'ARRAY') THEN json_extract_string({_JSON}, path) END",
    "json_format": "(j) AS CAST(json(j) AS VARCHAR)",
    "json_parse": "(s) AS json(s)",
    "last_day_of_month": "(x) AS last_day(x)",
    "map_agg": "(k, v) AS map(list(k), list(v))",
    "md5": "(x) AS unhex(md5(x))",
    "millisecond": "(x) AS millisecond(x) % 1000",
    "nan": "() AS CAST('NaN' AS DOUBLE)",
    # DuckDB finds the empty text where nothing matches.
    "regexp_extract": "(s, p) AS CASE WHEN regexp_matches(s, p) THEN regexp_extract(s, p) END, "
    "(s, p, n) AS CASE WHEN regexp_matches(s, p) THEN regexp_extract(s, p, n) END",
    "regexp_extract_all": "(s, p) AS regexp_extract_all(s, p), "
    "(s, p, n) AS regexp_extract_all(s, p, n)",
    "regexp_replace": "(s, p) AS regexp_replace(s, p, '', 'g'), "
    "(s, p, r) AS regexp_replace(s, p, r, 'g')",
    "replace": "(s, x) AS replace(s, x, ''), (s, x, y) AS replace(s, x, y)",
    "sha256": "(x) AS unhex(sha256(x))",
    "sign": "(x) AS cast_to_type(sign(x), x)",
    "slice": "(a, start, n) AS list_slice(a, start, start + n - 1)",
    "split_part": "(s, d, n) AS string_split(s, d)[n]",
    "to_iso8601": "(x) AS CASE typeof(x) WHEN 'DATE' THEN CAST(x AS VARCHAR) "
    "ELSE strftime(CAST(x AS TIMESTAMP), '%Y-%m-%dT%H:%M:%S.%g') || "
    "CASE typeof(x) WHEN 'TIMESTAMP WITH TIME ZONE' THEN 'Z' ELSE '' END END",
    "to_unixtime": "(x) AS epoch(x)",
    "url_extract_host": f"(u) AS nullif(regexp_extract(u, '{_URL}([^/:?#]+)', 1), '')",
    "url_extract_path": f"(u) AS regexp_extract(u, '{_URL}[^/?#]*([^?#]*)', 1)",
    "week_of_year": "(x) AS week(x)",
    "year_of_week": "(x) AS isoyear(x)",
    "yow": "(x) AS isoyear(x)",
}

# What casts are made of; queries cannot call these.
_IS_WHOLE = "typeof(x) <> 'VARCHAR' OR regexp_full_match(CAST(x AS VARCHAR), '[+-]?[0-9]+')"
CASTS = {
    # The text of a cast: moments have milliseconds, and those with a zone name it.
    "varchar": "(x) AS CASE WHEN x IS NULL THEN NULL WHEN typeof(x) LIKE 'TIMESTAMP%' "
    "THEN strftime(TRY_CAST(CAST(x AS VARCHAR) AS TIMESTAMP), '%Y-%m-%d %H:%M:%S.%g') || "
    "CASE WHEN typeof(x) = 'TIMESTAMP WITH TIME ZONE' THEN ' UTC' ELSE '' END "
    "ELSE CAST(x AS VARCHAR) END",
    # A text that is cast to a whole number: DuckDB rounds '1.5', and takes '1e3' and blanks.
    "whole": f"(x, kind) AS CASE WHEN x IS NULL OR {_IS_WHOLE} THEN x "
    "ELSE error('Could not convert string ''' || CAST(x AS VARCHAR) || ''' to ' || kind) END",
    "whole_or_null": f"(x) AS CASE WHEN {_IS_WHOLE} THEN x END",
}

# A pattern of MySQL, as `date_format` has it, to DuckDB's of strftime.
PATTERNS = {"date_format": "strftime", "date_parse": "strptime"}
SPECIFIERS = {
    **{letter: f"%{letter}" for letter in "abdfHIjmpSYy%"},
    "c": "%-m",
    "e": "%-d",
    "h": "%I",
    "i": "%M",
    "k": "%-H",
    "l": "%-I",
    "M": "%B",
    "r": "%I:%M:%S %p",
    "s": "%S",
    "T": "%H:%M:%S",
    "v": "%V",
    "W": "%A",
    "x": "%G",
}
# Functions of the syntax, which sqlglot and `translation` know.
SPECIAL = frozenset({"at_timezone", "concat", "greatest", "least"})
REFUSED_SPECIFIERS = frozenset("DUuVwX")


def is_known(name: str) -> bool:
    """Return whether queries may call a function."""
    return any(name in table for table in (SAME, RENAMED, MACROS, PATTERNS, SPECIAL))
