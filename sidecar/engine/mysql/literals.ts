import type { SqlParam } from '../sql/session.ts';

/**
 * A value in the text of a statement, for lists that have no parameters left. Nothing of a text stands there as it is:
 * its bytes are written in hexadecimal digits.
 */
export function literalSql(param: SqlParam): string {
  switch (typeof param) {
    case 'bigint':
    case 'boolean':
      return String(param);
    case 'number':
      // With an exponent it is a double, and otherwise a decimal.
      return /e/.test(String(param)) ? String(param) : `${param}e0`;
    case 'string':
      return `_utf8mb4 X'${Buffer.from(param, 'utf8').toString('hex')}'`;
    default:
      return param === null ? 'NULL' : `X'${Buffer.from(param).toString('hex')}'`;
  }
}
