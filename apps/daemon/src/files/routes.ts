import { AppError } from '@sandyard/kit/errors/app-error'
import { httpStatus } from '@sandyard/kit/errors/http-status'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { compose, type ComposeDeps } from '../compose/compose-route.ts'
import { keepCutBody } from '../http/client-error.ts'
import { sendError } from '../http/error-reply.ts'
import { ignoreMediaType } from '../http/ignore-media-type.ts'
import { download } from './download-route.ts'
import { InvalidQuery } from './file-query.ts'
import { HttpFailure, sendTextError } from './http-failure.ts'
import { upload } from './upload-route.ts'

/** A hook that goes before all that wait: a short request may have come, and ended, before they are done. */
export function keepCutUploads(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (request.method === 'POST' && request.routeOptions.url === '/files') keepCutBody(request.raw)
  done()
}

/** The REST routes for the contents of files (envd.md 5.6 to 5.8), in a scope of their own for their errors. Bodies must arrive unread. */
export function registerFileRoutes(app: FastifyInstance, deps: ComposeDeps): void {
  app.register((scope, _options, done) => {
    scope.setErrorHandler(async (error, request, reply) => {
      if (!isRefusedMediaType(error)) return answerFailure(error, request, reply)
      // Fastify refuses a media type that it cannot read before any check of ours, and that is our upload's to word.
      return upload(request, reply.code(200), deps).catch((failure: unknown) => answerFailure(failure, request, reply))
    })
    scope.get('/files', (request, reply) => download(request, reply, deps))
    scope.post('/files', (request, reply) => upload(request, reply, deps))
    scope.post('/files/compose', { onRequest: ignoreMediaType }, (request, reply) => compose(request, reply, deps))
    done()
  })
}

function isRefusedMediaType(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE'
}

function answerFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (error instanceof InvalidQuery) return sendTextError(reply, 400, error.message)
  // A byte of a path that is no UTF-8 has no place in JSON.
  if (error instanceof HttpFailure) return sendError(reply, error.status, error.message.toWellFormed())
  if (error instanceof AppError) return sendError(reply, httpStatus(error.kind), error.message.toWellFormed())
  // A client that went away has left nobody to be told, and nothing to be mended.
  if (!request.raw.destroyed) request.log.error({ err: error }, 'file route failed')
  return sendError(reply, 500, 'internal error')
}
