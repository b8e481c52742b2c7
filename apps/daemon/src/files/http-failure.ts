import type { FastifyReply } from 'fastify'

/** A failure with a status that no AppError kind maps to. */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure'
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Answers with a line of text, the form of the few errors that are not JSON. */
export function sendTextError(reply: FastifyReply, status: number, message: string): FastifyReply {
  return reply
    .code(status)
    .headers({ 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' })
    .send(`${message}\n`)
}
