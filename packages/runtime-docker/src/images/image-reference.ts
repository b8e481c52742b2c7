import { AppError } from '@sandyard/kit/errors/app-error'

/** A reference as in FROM of a Dockerfile, with all defaults filled in. */
export interface ImageReference {
  /** The original text, for messages. */
  readonly text: string
  /** `docker.io` by default. */
  readonly registry: string
  /** `library/debian`, `team/app`. */
  readonly path: string
  /** The repository as the engine lists it: `debian`, `team/app`, `registry.example:5000/team/app`. */
  readonly repository: string
  /** `latest` when neither tag nor digest was given; a digest overrides the tag. */
  readonly selector: { readonly tag: string } | { readonly digest: string }
  /** Repository and selector: the engine's name of the image. The engine never reads it as the prefix of an image id. */
  readonly name: string
}

const DEFAULT_REGISTRY = 'docker.io'
const MAX_NAME_LENGTH = 255

const HOST =
  /^(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*(?::[0-9]{1,5})?$/
const PATH = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/
const TAG = /^\w[\w.-]{0,127}$/
const DIGEST = /^sha256:[0-9a-f]{64}$/
const IMAGE_ID = /^(?:sha256:)?[0-9a-f]{64}$/
/** A reserved name on the default registry: only FROM in a Dockerfile can use it, and it means no image. */
const NO_IMAGE = 'scratch'

/**
 * Reads a reference by Docker's rules: a first part with a dot or a colon, or `localhost`, is a registry; a name of one part on the
 * default registry is below `library/`.
 *
 * @throws AppError `invalid_argument`, also for ids of images
 */
export function parseImageReference(text: string): ImageReference {
  const at = text.indexOf('@')
  const digest = at === -1 ? undefined : text.slice(at + 1)
  const named = at === -1 ? text : text.slice(0, at)
  const colon = named.indexOf(':', named.lastIndexOf('/') + 1)
  const tag = colon === -1 ? undefined : named.slice(colon + 1)
  const { registry, path } = splitName(colon === -1 ? named : named.slice(0, colon))
  const repository = registry === DEFAULT_REGISTRY ? path.replace(/^library\/(?=[^/]+$)/, '') : `${registry}/${path}`
  const isValid =
    repository !== NO_IMAGE &&
    !IMAGE_ID.test(named) &&
    HOST.test(registry) &&
    PATH.test(path) &&
    registry.length + path.length < MAX_NAME_LENGTH &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest))
  if (!isValid) throw new AppError('invalid_argument', `'${text.slice(0, 300)}' is not a valid image reference`)
  if (digest !== undefined) return { text, registry, path, repository, selector: { digest }, name: `${repository}@${digest}` }
  return { text, registry, path, repository, selector: { tag: tag ?? 'latest' }, name: `${repository}:${tag ?? 'latest'}` }
}

function splitName(name: string): { registry: string; path: string } {
  const slash = name.indexOf('/')
  const first = name.slice(0, Math.max(slash, 0))
  const isRegistry = slash !== -1 && (/[.:]/.test(first) || first === 'localhost')
  const registry = isRegistry && first !== 'index.docker.io' ? first : DEFAULT_REGISTRY
  const path = isRegistry ? name.slice(slash + 1) : name
  return { registry, path: registry === DEFAULT_REGISTRY && !path.includes('/') ? `library/${path}` : path }
}
