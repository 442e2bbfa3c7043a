import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError } from '#protocol/errors.ts';
import type { OperationName } from '#protocol/operations.ts';
import { type Body, type BodyReader, isJsonType } from '../http/body.ts';
import { Operation, type RunOptions } from '../operations/run.ts';
import type { Client } from '../security/client.ts';
import type { Connections } from './connections.ts';
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

/** Contract section 3, step 2, up to the JSON. Throws `ApiError`. */
function readText(body: Body, contentType: string | undefined): string {
  if (body === 'tooLarge') throw new ApiError('payload_too_large', 'the body is too long');
  if (body === 'tooMany') throw new ApiError('internal_error', 'too many bodies at once', { status: 503 });
  if (!isJsonType(contentType)) throw new ApiError('invalid_request', 'expected content type application/json');
  const hasByteOrderMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  if (!hasByteOrderMark && isUtf8(body)) return body.toString('utf8');
  throw new ApiError('invalid_request', 'the body is not UTF-8, or begins with a byte order mark');
}
