export interface ListenPlace {
  /** Field of sidecar.json that holds the port, such as `api.port`. */
  readonly field: string;
  readonly host: string;
  readonly port: number;
  /** Path of sidecar.json. */
  readonly file: string;
  /** Other places that must name the same port. */
  readonly also?: string;
}

/** Line for the owner: why the port cannot be used, and which setting to change. */
export function listenFault({ field, host, port, file, also = '' }: ListenPlace, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  const where = `${field} in ${file}${also}`;
  if (code === 'EADDRINUSE') return new Error(`port ${port} is in use; change ${where}`);
  if (code === 'EACCES') return new Error(`this user may not use port ${port}; change ${where}`);
  return new Error(`cannot listen on ${host}:${port}: ${code ?? message}; change ${where}`);
}
