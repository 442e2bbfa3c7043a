import type { Engine, EngineOptions } from '../engine.ts';
import type { ServerSettings } from '../open.ts';

export class PostgresEngine {
  static open(_settings: ServerSettings, _options: EngineOptions): Promise<Engine> {
    return Promise.reject(new Error('this provider is not supported yet'));
  }
}
