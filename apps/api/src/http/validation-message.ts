import type { FastifyError } from 'fastify'
import { shorten } from '../text/shorten.ts'

const PREFIX = 'validation error: '
const FULL_PREFIX = `${PREFIX}error in openapi3filter.RequestError: `

const PLACES: Readonly<Record<string, string>> = { params: 'path', querystring: 'query', headers: 'header' }

/** The message for a request that violates its schema. Clients compare its first words (control-plane.md 1.5). */
export function validationMessage(error: FastifyError): string {
  const [first] = error.validation ?? []
  const detail = first?.message ?? 'is not valid'
  const place = PLACES[error.validationContext ?? '']
  if (place === undefined) {
    const where = shorten(first?.instancePath ?? '')
    return where === ''
      ? `${FULL_PREFIX}request body has an error: it ${detail}`
      : `${FULL_PREFIX}request body has an error: ${where} ${detail}`
  }
  if (first?.keyword === 'required') {
    return `${FULL_PREFIX}parameter "${String(first.params['missingProperty'])}" in ${place} has an error: value is required but missing`
  }
  const name = first?.instancePath.slice(1) ?? ''
  if (first?.keyword === 'type') return `${PREFIX}Invalid format for parameter ${name}: ${detail}`
  return `${FULL_PREFIX}parameter "${name}" in ${place} has an error: ${detail}`
}

export const noRouteMessage = `${FULL_PREFIX}no matching operation was found`
