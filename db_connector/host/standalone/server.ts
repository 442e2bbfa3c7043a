import { detectHost } from '../detect.ts';
import { startConnector } from '../start-connector.ts';

/** The bundle's script on the standalone server (contract section 9); what it returns is called at stop. */
export default function start(given: unknown): () => Promise<void> {
  return startConnector(detectHost(given));
}
