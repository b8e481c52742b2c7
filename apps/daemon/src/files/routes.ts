import { AppError } from '@sandyard/kit/errors/app-error'
import { httpStatus } from '@sandyard/kit/errors/http-status'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { compose, type ComposeDeps } from '../compose/compose-route.ts'
import { keepCutBody } from '../http/client-error.ts'
import { logFileFailure } from '../filesystem/log-file-failure.ts'
import { sendError } from '../http/json-reply.ts'
import { ignoreMediaType } from '../http/request-header.ts'
import type { DaemonLog } from '../loggers.ts'
import { download } from './download-route.ts'
import { InvalidQuery } from './file-query.ts'
import { HttpFailure, sendTextError } from './http-failure.ts'
import { upload } from './upload-route.ts'

/** Must run before all asynchronous hooks: a short request may be cut off before they finish. */
export function keepCutUploads(request: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  if (request.method === 'POST' && request.routeOptions.url === '/files') keepCutBody(request.raw)
  done()
}

/** The REST routes for the contents of files (envd.md 5.6 to 5.8), in a scope with its own error handler. Bodies must arrive unread. */
export function registerFileRoutes(app: FastifyInstance, deps: ComposeDeps): void {
  app.register((scope, _options, done) => {
    scope.setErrorHandler(async (error, request, reply) => {
      if (!isRefusedMediaType(error)) return answerFailure(error, reply, { request, log: deps.log })
      // Fastify refuses a media type that it cannot read before any check of ours. The upload has its own words for that.
      return upload(request, reply.code(200), deps).catch((failure: unknown) => answerFailure(failure, reply, { request, log: deps.log }))
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

interface FailedRequest {
  readonly request: FastifyRequest
  readonly log: DaemonLog
}

function answerFailure(error: unknown, reply: FastifyReply, { request, log }: FailedRequest): FastifyReply {
  if (error instanceof InvalidQuery) return sendTextError(reply, 400, error.message)
  // A path may have bytes that are not UTF-8, which JSON cannot represent.
  if (error instanceof HttpFailure) return sendError(reply, error.status, error.message.toWellFormed())
  // Failures after the client disconnected are expected.
  if (!request.raw.destroyed || error instanceof AppError) logFileFailure(log, `${request.method} ${request.routeOptions.url}`, error)
  if (error instanceof AppError) return sendError(reply, httpStatus(error.kind), error.message.toWellFormed())
  return sendError(reply, 500, 'internal error')
}
