import fp from 'fastify-plugin'
import { AppError, isAppError } from '@sandyard/kit/errors/app-error'
import { shorten } from '../text/shorten.ts'
import { BodyReader } from './body-reader.ts'
import { clientKey } from './client-address.ts'
import type { FastifyRequest } from 'fastify'

/**
 * Bodies are JSON, and an empty one is the same as none. Any other content type is refused where the operation has a body and ignored
 * where it has none; either way the connection stays usable.
 */
export const bodiesPlugin = fp(
  async (app) => {
    const reader = new BodyReader()
    app.addHook('onClose', () => reader[Symbol.asyncDispose]())
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
      if (body.length === 0) return undefined
      try {
        return await reader.read(body, ownerOf(request))
      } catch (err) {
        throw isAppError(err, 'invalid_argument') ? undecodable(request, err) : err
      }
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

/** Hooks have authenticated the request already. */
function ownerOf({ principal, ip }: FastifyRequest): string {
  return principal?.team?.id ?? principal?.user?.id ?? clientKey(ip)
}

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
