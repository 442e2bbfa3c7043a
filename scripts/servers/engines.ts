import type { EngineName, ServerEngine } from './engine.ts';
import * as mongodb from './mongodb.ts';
import * as mysql from './mysql.ts';
import * as mysql9 from './mysql9.ts';
import * as postgres from './postgres.ts';

export const ENGINES: Readonly<Record<EngineName, ServerEngine>> = { postgres, mysql, mysql9, mongodb };
