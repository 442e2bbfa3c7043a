/**
 * Legal names that something below may keep for itself. Random schemas draw from them. A list of its own: imports nothing of
 * what it judges.
 */

/** Columns that no application may make on one engine or another, or that mean the row itself there. */
export const SYSTEM_COLUMNS = words(`
  rowid oid
  ctid cmin cmax tableoid xmin xmax
  db_row_id db_trx_id db_roll_ptr fts_doc_id my_row_id row_start row_end`);

/**
 * Columns of the sidecar's own tables, and short names such as its statements use. Without `op`: the server that stands for
 * MongoDB in the tests cannot search an indexed field of that name (its error 29; a real MongoDB can).
 */
export const BOOKKEEPING_NAMES = words(`
  namespace revision hash schema updated_at pending kid key fingerprint result expires_at id kind table_name
  column_name physical_name definition row_count quarantined_at owner renewed_at last_id name value journal token
  position past payload code message time is_retry_wanted
  a b c d e f g h i j k l m n p q r s t u v w x y z k0 k1 v0 v1 w0 kept present numbered known excluded old new
  documents rows ids seq order_field`);

/** Words of SQL that PostgreSQL, MySQL, MariaDB or SQLite reserves. */
const SQL_WORDS = words(`
  abort accessible action add after all alter always analyse analyze and any array as asc asensitive asymmetric
  attach authorization autoincrement before begin between bigint binary blob body both bucket by call cascade case
  cast change char character check collate collation column commit concurrently condition conflict constraint
  continue convert create cross cube cume_dist current current_catalog current_date current_default_role current_role
  current_schema current_time current_timestamp current_user cursor database databases day_hour day_microsecond
  day_minute day_second dec decimal declare default deferrable deferred delayed delete dense_rank desc describe detach
  deterministic distinct distinctrow div do do_domain_ids double drop dual each else elseif elsif empty enclosed end
  escape escaped except exclude exclusive exists exit explain fail false fetch filter first_value float float4 float8
  following for force foreign freeze from full fulltext function generated get glob goto grant group grouping groups
  having high_priority history hour_microsecond hour_minute hour_second if ignore ignore_domain_ids ilike immediate in
  index indexed infile initially inner inout insensitive insert instead int int1 int2 int3 int4 int8 integer intersect
  interval into io_after_gtids io_before_gtids is isnull iterate join json_table keys kill lag last_value lateral lead
  leading leave left like limit linear lines load localtime localtimestamp lock long longblob longtext loop
  low_priority manual master_bind master_heartbeat_period master_ssl_verify_server_cert match materialized maxvalue
  mediumblob mediumint mediumtext middleint minute_microsecond minute_second mod modifies natural no
  no_write_to_binlog not nothing notnull nth_value ntile null nulls numeric of off offset on only optimize
  optimizer_costs option optionally or order others out outer outfile over overlaps package page_checksum parallel
  parse_vcol_expr partition percent_rank period placing plan portion pragma preceding precision primary procedure
  purge qualify query raise range rank read read_write reads real recursive ref_system_id references regexp reindex
  release rename repeat replace require resignal restrict return returning revoke right rlike rollback row
  row_number rownum rowtype savepoint schemas second_microsecond select sensitive separator session_user set show
  signal similar smallint some spatial specific sql sql_big_result sql_calc_found_rows sql_small_result sqlexception
  sqlstate sqlwarning ssl starting stats_auto_recalc stats_persistent stats_sample_pages stored straight_join
  symmetric sysdate system system_time system_user table tablesample tablespace temp temporary terminated then ties
  tinyblob tinyint tinytext to trailing transaction trigger true unbounded undo union unique unlock unsigned until
  update usage use user using utc_date utc_time utc_timestamp vacuum values varbinary varchar varcharacter variadic
  varying vector verbose versioning view virtual when where while window with within without write xor year_month
  zerofill zone`);

/** Names that mean something to JavaScript, to JSON or to the document database. */
const PROGRAM_WORDS = words(`
  constructor prototype tostring valueof hasownproperty length then catch finally arguments undefined nan infinity
  type size collection count meta text score ns admin local config capped natural project slice elem function end nil
  self`);

export const ODD_NAMES: readonly string[] = [
  ...new Set([...SYSTEM_COLUMNS, ...BOOKKEEPING_NAMES, ...SQL_WORDS, ...PROGRAM_WORDS]),
];

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

const NAME_LISTS = [words('c1 c2 c3 c4 n1 n2'), SYSTEM_COLUMNS, BOOKKEEPING_NAMES, ODD_NAMES].map((names) =>
  names.filter((name) => !name.startsWith('k')),
);

/** Different names, plain or odd; none begins with `k`. */
export function drawnNames(random: { pick<T>(items: readonly T[]): T }, count: number): string[] {
  const left = [...random.pick(NAME_LISTS)];
  return Array.from({ length: count }, () => left.splice(left.indexOf(random.pick(left)), 1)[0] as string);
}
