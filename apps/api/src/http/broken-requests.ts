import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { RequestFacts } from '@sandyard/kit/tracing/request-facts'
import { JSON_TYPE, sendErrorReply, toErrorReply } from './error-reply.ts'
import { REQUEST_ID } from './request-scope-plugin.ts'

const BY_CODE: Readonly<Record<string, readonly [number, string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'Request Timeout'],
  HPE_HEADER_OVERFLOW: [431, 'Request Header Fields Too Large'],
}

/** Answers input that is not HTTP in the shape of every other error and closes the connection. */
export function answerBrokenRequest(socket: Socket, error: NodeJS.ErrnoException): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [code, message] = BY_CODE[error.code ?? ''] ?? [400, 'Bad Request']
  const body = JSON.stringify({ code, message })
  socket.end(
    `HTTP/1.1 ${code} ${message}\r\ncontent-type: ${JSON_TYPE}\r\n${REQUEST_ID}: ${new RequestFacts().id}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}

/** Answers an `Expect` header other than `100-continue`. Node does not pass such requests to the router. */
export function answerExpectation(request: IncomingMessage, response: ServerResponse): void {
  const headers = {
    [REQUEST_ID]: new RequestFacts({ header: request.headers[REQUEST_ID] }).id,
    'content-type': JSON_TYPE,
    connection: 'close',
  }
  response.writeHead(417, headers).end(JSON.stringify({ code: 417, message: 'Expectation Failed' }))
}

/** Answers requests that the router cannot read, such as `/sandboxes/%zz`. */
export function answerUnroutable(error: Error, request: FastifyRequest, reply: FastifyReply): void {
  void reply.header(REQUEST_ID, new RequestFacts({ header: request.headers[REQUEST_ID] }).id)
  void sendErrorReply(reply, toErrorReply(error, request))
}
