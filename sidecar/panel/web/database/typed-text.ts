import type { ColumnInfo, JsonText } from '#panel/shapes/database.ts';
import { compactJson, indentedJson, isJson, isNumberText, kindOf, shownText } from './json-text.ts';

/** Text of a field as JSON text of the column's type, or the fault in it. */
export type TypedText = { readonly json: JsonText } | { readonly fault: TypedFault };

export type TypedFault =
  | 'fault-int'
  | 'fault-number'
  | 'fault-bool'
  | 'fault-json'
  | 'fault-date'
  | 'fault-datetime'
  | 'fault-uuid';

const INTEGER = /^([+-]?)0*(\d+)$/;
/** Also the way people write them: `.5`, `1.`, a plus, zeros in front. */
const DECIMAL = /^([+-]?)0*(\d*)(?:\.(\d*))?((?:[eE][+-]?\d+)?)$/;

type ColumnKind = Pick<ColumnInfo, 'type'>;

/** The form is checked here, so that a slip is told at once; whether the value fits, the database decides. */
export function typedText({ type }: ColumnKind, written: string): TypedText {
  const text = written.trim();
  switch (type) {
    case 'int32':
    case 'int64':
      return numberFrom(INTEGER, text, 'fault-int');
    case 'decimal':
    case 'float64':
      return numberFrom(DECIMAL, text, 'fault-number');
    case 'bool':
      return text === 'true' || text === 'false' ? { json: text } : { fault: 'fault-bool' };
    case 'json':
      return isJson(text) ? { json: compactJson(text) } : { fault: 'fault-json' };
    case 'date':
      return matched(/^\d{4}-\d\d-\d\d$/, text, 'fault-date');
    case 'datetime':
      return matched(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)?$/, text, 'fault-datetime');
    case 'uuid':
      return matched(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i, text, 'fault-uuid');
    default:
      // White space may be meant in a text.
      return { json: JSON.stringify(written) };
  }
}

function numberFrom(form: RegExp, text: string, fault: TypedFault): TypedText {
  const match = form.exec(text);
  if (match === null) return { fault };
  const [, sign = '', whole = '', fraction = '', exponent = ''] = match;
  if (whole === '' && fraction === '') return { fault };
  const json = `${sign === '-' ? '-' : ''}${whole === '' ? '0' : whole}${fraction === '' ? '' : `.${fraction}`}${exponent}`;
  return isNumberText(json) ? { json } : { fault };
}

function matched(form: RegExp, text: string, fault: TypedFault): TypedText {
  return form.test(text) ? { json: JSON.stringify(text) } : { fault };
}

/** The other way: how a value stands in its field. */
export function fieldText({ type }: ColumnKind, json: JsonText): string {
  if (kindOf(json) === 'null') return '';
  return type === 'json' ? indentedJson(json) : shownText(json);
}
