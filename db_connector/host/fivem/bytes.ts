import type { ByteForm } from '../../calls/records.ts';

/**
 * What FXServer's codec makes of bytes: an `ArrayBuffer` stays one, any view of one becomes a map of numbers
 * (citizenfx/fivem, data/shared/citizen/scripting/v8/main.js and msgpack.js).
 */
export const FX_BYTES: ByteForm = {
  read: (value) => (value instanceof ArrayBuffer ? new Uint8Array(value) : null),
  write: (bytes) => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
  explain: (value) =>
    isMapOfNumbers(value)
      ? 'the record came as a map of numbers, which is what FXServer makes of a Uint8Array; send its bytes as an ArrayBuffer'
      : null,
};

/** Told by its first key alone, since the map may be long. */
function isMapOfNumbers(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return false;
  }
  for (const key in value) {
    return key === '0';
  }
  return false;
}
