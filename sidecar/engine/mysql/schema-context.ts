import type { SchemaConnection } from '../sql/schema-connection.ts';
import type { Flavour } from './schema-types.ts';

/** Where and as what a change runs. */
export interface ChangeContext {
  readonly connection: SchemaConnection;
  readonly flavour: Flavour;
  readonly namespace: string;
  /** To which the change leads. */
  readonly revision: number;
  /** Epoch milliseconds. */
  readonly now: number;
}
