import fp from 'fastify-plugin'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { shorten } from '../text/shorten.ts'
import { requestOwner } from './caps/request-owner.ts'
import { BodyReader } from './body-reader.ts'
import type { FastifyRequest } from 'fastify'

/**
 * Parses JSON bodies; an empty body counts as absent. Another content type is refused if the operation has a body, and ignored if it has
 * none. In both cases the connection stays usable.
 */
export const bodiesPlugin = fp(
  async (app) => {
    const reader = new BodyReader()
    app.addHook('onClose', () => reader[Symbol.asyncDispose]())
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
      if (body.length === 0) return undefined
      try {
        return await reader.read(body, requestOwner(request))
      } catch (err) {
        throw isAppError(err, 'invalid_argument') ? undecodable(request, err) : err
      }
    })
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
      const hasBody = request.routeOptions.schema?.body !== undefined && body.length > 0
      done(hasBody ? wrongType(request) : null, undefined)
    })
    // Fastify itself refuses a malformed content type. Without the header, the parser for other types handles the body.
    app.addHook('onRequest', async (request) => {
      const isMalformed = request.headers['content-type'] !== undefined && request.mediaType === undefined
      if (isMalformed) request.headers = { ...request.headers, 'content-type': undefined }
    })
    app.addHook('preValidation', async (request) => {
      if (request.routeOptions.config.isBodyOptional === true) request.body ??= {}
    })
  },
  { name: 'bodies' },
)

/** The texts of control-plane.md 1.5. */
function undecodable(request: FastifyRequest, cause: Error): AppError {
  const { tag } = request.routeOptions.config.operation ?? {}
  const isTemplate = tag === 'templates' || tag === 'builds' || tag === 'tags'
  const prefix = isTemplate ? 'Invalid request body: ' : 'Error when parsing request: error when parsing request: '
  return new AppError('invalid_argument', `${prefix}${cause.message}`, { cause })
}

function wrongType(request: FastifyRequest): AppError {
  const type = shorten(request.raw.headers['content-type'] ?? '')
  return new AppError(
    'invalid_argument',
    `validation error: error in openapi3filter.RequestError: request body has an error: header Content-Type has unexpected value "${type}"`,
  )
}
