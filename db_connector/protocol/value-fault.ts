import { ApiError, type ApiErrorCode } from './errors.ts';
import { type Json, JsonNumber } from './json-value.ts';

/** A value's kind in words. Never the value itself: messages may be logged, payloads may not. */
export function kindOf(json: Json | undefined): string {
  if (json === undefined) return 'nothing';
  if (json === null) return 'null';
  if (Array.isArray(json)) return 'an array';
  if (json instanceof JsonNumber) return 'a number';
  switch (typeof json) {
    case 'object':
      return 'an object';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'a boolean';
    default:
      return 'a string';
  }
}

export function invalidValue(path: string, expected: string, got: string): ApiError {
  return new ApiError('invalid_value', `${path}: expected ${expected}, got ${got}`);
}

export function valueTooLong(path: string, expected: string): ApiError {
  return new ApiError('value_too_long', `${path}: expected ${expected}, got more`);
}

/** Runs `read`; an error about a value becomes one about the filter or the schema that it stands in. */
export function relabelled<T>(code: ApiErrorCode, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ApiError) throw new ApiError(code, error.message);
    throw error;
  }
}
