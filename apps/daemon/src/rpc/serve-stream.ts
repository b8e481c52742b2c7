import type { FastifyRequest } from 'fastify'
import { type CallForm, readForm } from './media-type.ts'
import { isCut } from './request-body.ts'
import { refuseForm, type RpcDeps, type RpcHandler } from './rpc-deps.ts'
import { toRpcError } from './rpc-error.ts'
import { StreamResponse } from './stream-response.ts'

type Answer = (request: FastifyRequest, response: StreamResponse, form: CallForm) => Promise<void>

/** The frame of every stream: the form of the call before, and an end that tells of a failure of `answer` behind (envd.md 6.3). */
export function serveStream({ log }: RpcDeps, answer: Answer): RpcHandler {
  return async (request, reply) => {
    const form = readForm('stream', request.headers['content-type'])
    if (form === undefined) return refuseForm(reply, 'stream')
    const response = new StreamResponse(reply, form.contentType)
    try {
      await answer(request, response, form)
      await response.end()
    } catch (error) {
      if (isCut(request.raw)) return undefined
      await response.end(toRpcError(error, log))
    }
    return undefined
  }
}
