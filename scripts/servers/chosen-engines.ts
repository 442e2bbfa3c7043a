// Which engines a run of the tests is about. Imports nothing heavy: the test runner's configuration reads it.
import type { EngineName } from './engine.ts';

export type TestedEngine = 'sqlite' | EngineName;

export const TESTED_ENGINES: readonly TestedEngine[] = ['sqlite', 'postgres', 'mysql', 'mysql9', 'mongodb'];

/** Engines that the contract suite runs on if ENGINES is not set. */
const BY_DEFAULT: readonly TestedEngine[] = TESTED_ENGINES;

export function isServerEngine(engine: TestedEngine): engine is EngineName {
  return engine !== 'sqlite';
}

/** `database.provider` for an engine; each is served by an engine of the same name. */
export type Provider = Exclude<TestedEngine, 'mysql9'>;

export function providerOf(engine: EngineName): Exclude<Provider, 'sqlite'> {
  return engine === 'mysql9' ? 'mysql' : engine;
}

/** Engines that have the name of a provider: one for each. */
export function isNamedAsProvider<Name extends TestedEngine>(engine: Name): engine is Exclude<Name, 'mysql9'> {
  return engine !== 'mysql9';
}

/** The variable of the environment that names a server to use as it is. */
export function urlVariableOf(engine: EngineName): string {
  return `TEST_${engine.toUpperCase()}_URL`;
}

/**
 * `ENGINES=postgres,mysql` narrows a run to these.
 * @throws Error that names what is unknown.
 */
export function chosenEngines(environment: NodeJS.ProcessEnv): readonly TestedEngine[] {
  const given = namesIn(environment);
  const unknown = given.filter((name) => !TESTED_ENGINES.some((engine) => engine === name));
  if (unknown.length > 0) {
    throw new Error(`ENGINES: expected some of ${TESTED_ENGINES.join(', ')}, got ${unknown.join(', ')}`);
  }
  return given.length === 0 ? BY_DEFAULT : TESTED_ENGINES.filter((engine) => given.includes(engine));
}

/** Engines that ENGINES leaves out: their own tests do not run either. */
export function excludedEngines(environment: NodeJS.ProcessEnv): readonly TestedEngine[] {
  if (namesIn(environment).length === 0) return [];
  const chosen = chosenEngines(environment);
  return TESTED_ENGINES.filter((engine) => !chosen.includes(engine));
}

function namesIn(environment: NodeJS.ProcessEnv): string[] {
  return (environment.ENGINES ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}
