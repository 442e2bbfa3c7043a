import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseRequestEnvelope, type RequestEnvelope } from '#protocol/envelope.ts';
import { ApiError } from '#protocol/errors.ts';
import type { OperationName } from '#protocol/operations.ts';
import { type Body, type BodyReader, isJsonType } from '../http/body.ts';
import type { UnsentAnswers } from '../http/unsent-answers.ts';
import type { Answer } from '../operations/answer.ts';
import type { Operation } from '../operations/run.ts';
import type { Client } from '../security/client.ts';
import type { Connections } from './connections.ts';
import { replyAnswer } from './reply.ts';

export interface OperationRouteOptions {
  readonly bodies: BodyReader;
  readonly unsent: UnsentAnswers;
  readonly connections: Connections;
  readonly maxPayloadChars: number;
}

/** Answers one request whose path and client are known. */
export type Serve = (request: IncomingMessage, response: ServerResponse, client: Client) => unknown;

/** HTTP around one operation. The order of the steps is that of contract section 3: head, body, envelope, signature. */
export function operationRoute(operation: Operation<OperationName>, options: OperationRouteOptions): Serve {
  const { bodies, unsent, connections, maxPayloadChars } = options;
  return async (request, response, client): Promise<void> => {
    const { headers, socket } = request;
    const answer = (given: Answer): void => {
      replyAnswer(response, given);
      countUnsent(response, unsent);
    };
    const call = operation.admit({ client, answer });
    if (call === null) {
      request.resume();
      return;
    }
    const sender = { address: client.address, isStranger: connections.isStranger(socket) };
    const body = await bodies.read(request, sender);
    if (body === 'cutOff') return;
    try {
      call.authenticate(envelopeOf(body, headers['content-type'], maxPayloadChars));
      connections.know(socket);
      call.run();
    } catch (error) {
      call.refuse(error);
    }
  };
}

/** Most answers are in the system's hands at once. */
function countUnsent(response: ServerResponse, unsent: UnsentAnswers): void {
  const bytes = response.writableLength;
  if (bytes === 0 || response.destroyed) return;
  const own = unsent.open(() => response.destroy());
  own.add(bytes);
  response.once('close', () => own.end());
}

/** Contract section 3, steps 2 and 3. Throws `ApiError`. */
function envelopeOf(body: Exclude<Body, 'cutOff'>, contentType: string | undefined, maxChars: number): RequestEnvelope {
  if (body === 'tooLarge') throw new ApiError('payload_too_large', 'the body is too long');
  if (body === 'tooMany') throw new ApiError('internal_error', 'too many bodies at once', { status: 503 });
  if (!isJsonType(contentType)) throw new ApiError('invalid_request', 'expected content type application/json');
  const hasByteOrderMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  if (!hasByteOrderMark && isUtf8(body)) return parseRequestEnvelope(body.toString('utf8'), maxChars);
  throw new ApiError('invalid_request', 'the body is not UTF-8, or begins with a byte order mark');
}
