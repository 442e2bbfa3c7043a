import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OperationName } from '#protocol/operations.ts';
import { Operation, type RunOptions } from '../operations/run.ts';
import type { Client } from '../security/client.ts';
import type { Connections } from './connections.ts';
import { type BodyReader, readText } from './read-body.ts';
import { replyAnswer } from './reply.ts';

export interface OperationRouteOptions extends RunOptions {
  readonly bodies: BodyReader;
  readonly connections: Connections;
}

/** HTTP around one operation: contract section 3, step 2, and the way of its answer. */
export class OperationRoute<Op extends OperationName> {
  readonly #operation: Operation<Op>;
  readonly #bodies: BodyReader;
  readonly #connections: Connections;

  constructor(name: Op, options: OperationRouteOptions) {
    this.#operation = new Operation(name, options);
    this.#bodies = options.bodies;
    this.#connections = options.connections;
  }

  serve(request: IncomingMessage, response: ServerResponse, client: Client): void {
    const { headers, socket } = request;
    const call = this.#operation.admit({
      client,
      answer: (answer) => replyAnswer(response, answer),
      authenticated: () => this.#connections.know(socket),
    });
    if (call === null) {
      request.resume();
      return;
    }
    const sender = { address: client.address, isStranger: this.#connections.isStranger(socket) };
    this.#bodies.read(request, sender, (body) => {
      this.#operation.run(call, () => readText(body, headers['content-type']));
    });
  }
}
