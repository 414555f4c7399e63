//! Functions and words of SQL that are known.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::super::listed;

/// What calling a function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// Nothing but a value.
    Plain,
    /// Reads the file that is its first text.
    Reads,
    /// Writes the file that is its first text.
    Writes,
    /// Changes the database.
    Changes,
    /// Acts on the server or on other sessions.
    System,
    /// Runs something.
    Runs,
    /// Talks to another server.
    Connects,
    /// Not known.
    Unknown,
}

pub(super) fn call(name: &str) -> Call {
    if let Some(call) = CALLS.get(name) {
        *call
    } else if name.starts_with("dblink")
        || name.starts_with("postgres_")
        || name == "http_get"
        || name == "http_post"
    {
        Call::Connects
    } else {
        Call::Unknown
    }
}

static CALLS: LazyLock<HashMap<&str, Call>> = LazyLock::new(|| {
    listed::map([
        (Call::Plain, PLAIN),
        (Call::Plain, WORDS),
        (Call::Plain, TYPES),
        (Call::Reads, READING),
        (Call::Writes, WRITING),
        (Call::Changes, CHANGING),
        (Call::System, SYSTEM),
        (Call::Runs, RUNNING),
    ])
});

const READING: &str = "pg_read_file pg_read_binary_file pg_ls_dir pg_stat_file readfile load_file lo_import read_csv \
    read_csv_auto read_parquet read_json read_json_auto read_json_objects read_ndjson read_text read_blob read_xlsx \
    parquet_scan parquet_metadata parquet_schema sniff_csv fsdir openrowset";
const WRITING: &str = "writefile lo_export";
const CHANGING: &str =
    "setval nextval set_config lo_unlink lo_create pg_logical_emit_message pg_advisory_lock";
const SYSTEM: &str = "pg_terminate_backend pg_cancel_backend pg_reload_conf pg_rotate_logfile pg_switch_wal pg_promote \
    pg_create_restore_point pg_start_backup pg_stop_backup";
const RUNNING: &str = "sys_exec sys_eval xp_cmdshell edit load_extension pg_execute_server_program query query_table \
    query_to_xml query_to_xml_and_xmlschema database_to_xml fts3_tokenizer eval exec execute shell_exec";

/// Functions that only give a value.
const PLAIN: &str = "count sum avg min max total coalesce nullif ifnull isnull iif if lower upper length char_length \
    character_length octet_length bit_length substr substring trim ltrim rtrim btrim replace round floor ceil ceiling abs \
    mod power pow sqrt exp ln log log10 log2 sign trunc truncate pi sin cos tan degrees radians random rand greatest least \
    now date time datetime timestamp strftime julianday unixepoch date_trunc date_part extract to_char to_date \
    to_timestamp to_number age make_date make_interval current_timestamp current_date current_time localtime \
    localtimestamp clock_timestamp datediff timestampdiff date_add date_sub dateadd date_format from_unixtime \
    unix_timestamp year month day hour minute second quarter week dayofweek dayofmonth dayofyear weekday monthname \
    dayname last_day adddate subdate curdate curtime concat concat_ws group_concat string_agg listagg array_agg json_agg \
    jsonb_agg json_object_agg jsonb_object_agg json_build_object jsonb_build_object json_build_array json_extract \
    json_extract_path json_extract_path_text jsonb_extract_path jsonb_extract_path_text json_unquote json_object \
    json_array json_each json_tree json_array_length jsonb_array_length json_type json_valid jsonb_each jsonb_each_text \
    json_each_text jsonb_array_elements json_array_elements jsonb_array_elements_text json_array_elements_text \
    jsonb_object_keys json_object_keys jsonb_pretty jsonb_typeof json_typeof json_quote row_number rank dense_rank \
    percent_rank cume_dist lag lead first_value last_value nth_value ntile instr printf format typeof pg_typeof \
    generate_series range unnest regexp_replace regexp_matches regexp_match regexp_split_to_table regexp_like regexp_substr \
    regexp_extract split_part left right position strpos locate md5 sha1 sha2 sha256 hex unhex quote quote_literal \
    quote_ident pg_size_pretty pg_total_relation_size pg_relation_size pg_database_size pg_table_size pg_indexes_size \
    pg_get_viewdef pg_get_functiondef pg_get_indexdef pg_get_constraintdef pg_get_expr pg_get_userbyid pg_encoding_to_char \
    obj_description col_description format_type to_regclass has_table_privilege version current_database current_schema \
    current_schemas database schema user current_user session_user inet_server_addr inet_server_port pg_backend_pid \
    pg_postmaster_start_time pg_is_in_recovery txid_current_snapshot pg_sleep current_setting last_insert_id \
    last_insert_rowid changes total_changes sqlite_version row_to_json to_json to_jsonb array array_length array_to_string \
    string_to_array cardinality array_position array_remove lpad rpad initcap reverse repeat ascii char chr unicode \
    likelihood likely unlikely nvl nvl2 decode convert cast try_cast stddev stddev_pop stddev_samp variance var_pop \
    var_samp corr median mode percentile_cont percentile_disc approx_count_distinct bool_and bool_or every bit_and bit_or \
    any_value list first last arg_max arg_min histogram list_value struct_pack strlen contains starts_with ends_with \
    prefix suffix glob soundex lcase ucase space elt field find_in_set format_bytes isfinite isnan uuid gen_random_uuid \
    row pragma_table_info pragma_index_list pragma_foreign_key_list pragma_table_list translate overlay to_hex encode \
    width_bucket div gcd lcm numnode jsonb_path_query jsonb_path_exists to_days timediff sec_to_time len getdate \
    object_id db_name charindex stuff";

/// Words after which a bracket is not a call.
const WORDS: &str = "in exists any all some values select from where and or not on as over partition by using when then \
    else case between like ilike union intersect except having join distinct filter within interval with recursive limit \
    offset set is into returning key primary unique check references default materialized lateral grouping sets rollup cube \
    only rows group order explain is similar escape table collate end both regexp rlike";

/// Types that take a size.
const TYPES: &str = "varchar char character nchar nvarchar decimal numeric int integer bigint smallint tinyint float double \
    real bit varbit binary varbinary time timetz timestamptz varying enum bpchar";

/// What a pragma is called that only looks.
pub(super) const PRAGMAS: &[&str] = &[
    "table_info",
    "table_xinfo",
    "table_list",
    "index_list",
    "index_info",
    "index_xinfo",
    "foreign_key_list",
    "foreign_key_check",
    "database_list",
    "integrity_check",
    "quick_check",
    "compile_options",
    "collation_list",
    "function_list",
    "module_list",
    "pragma_list",
    "page_count",
    "freelist_count",
    "data_version",
    "database_size",
    "storage_info",
    "show_tables",
    "version",
];
/// Pragmas that look when nothing is given to them.
pub(super) const PRAGMAS_ALONE: &[&str] = &[
    "user_version",
    "application_id",
    "schema_version",
    "journal_mode",
    "page_size",
    "encoding",
    "foreign_keys",
    "synchronous",
    "cache_size",
    "auto_vacuum",
    "locking_mode",
    "busy_timeout",
    "temp_store",
    "mmap_size",
];
