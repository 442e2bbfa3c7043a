import { expectTypeOf, it } from 'vitest';
import type { Host as HelperHost } from '#connector/helper/helper.ts';
import type { Host as ServerHost } from '#standalone/host.ts';

it('the server and the helper mean the same host', () => {
  expectTypeOf<ServerHost>().toEqualTypeOf<HelperHost>();
});
