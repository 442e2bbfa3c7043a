/** The part of knex that owns connections; its own declarations cover only the front. */
declare module 'knex/lib/client.js' {
  interface PendingAcquire<C> {
    readonly promise: Promise<C>;
    abort(): void;
  }

  interface Pool<C> {
    acquire(): PendingAcquire<C>;
    release(connection: C): boolean;
  }

  export default class Client<C extends object> {
    constructor(config: Readonly<Record<string, unknown>>);
    readonly pool: Pool<C>;
    initializePool(): void;
    acquireRawConnection(): Promise<C>;
    destroyRawConnection(connection: C): Promise<void>;
    validateConnection(connection: C): boolean;
    destroy(): Promise<void>;
  }
}
