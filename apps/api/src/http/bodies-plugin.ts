import fp from 'fastify-plugin'
import { AppError } from '@sandyard/kit/errors/app-error'
import { shorten } from '../text/shorten.ts'
import type { FastifyRequest } from 'fastify'

/**
 * How bodies are read: JSON, with an empty one the same as none. Any other content type is refused where the operation has a body
 * and ignored where it has none; either way the connection stays usable.
 */
export const bodiesPlugin = fp(
  async (app) => {
    // Keys that could reach an object's prototype are dropped, as unknown properties are.
    const parseJson = app.getDefaultJsonParser('remove', 'remove')
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
      if (body === '') {
        done(null, undefined)
        return
      }
      void parseJson(request, body.toString(), (error, value) =>
        done(error === null ? null : undecodable(request, error), value as unknown),
      )
    })
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
      const hasBody = request.routeOptions.schema?.body !== undefined && body.length > 0
      done(hasBody ? wrongType(request) : null, undefined)
    })
    // A media type that is none is treated like any other wrong one.
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
