import type { KeyScope } from '@sandyard/api-contract/credentials/api-key'
import { isMutating, type Operation } from '@sandyard/api-contract/operation'
import { AppError } from '@sandyard/kit/errors/app-error'

const CONNECTING: ReadonlySet<string> = new Set(['connectSandbox', 'connectSandboxV2', 'getSandbox', 'listSandboxes', 'listSandboxesV2'])
const BUILD_TAGS: ReadonlySet<string> = new Set(['templates', 'builds', 'tags'])
/** Its answer is a link that lets its holder write. */
const GIVES_WRITE = 'getTemplateFiles'

const ALLOWS: Readonly<Record<KeyScope, (operation: Operation) => boolean>> = {
  connect: ({ id }) => CONNECTING.has(id),
  read: (operation) => !isMutating(operation) && operation.id !== GIVES_WRITE,
  build: ({ tag }) => BUILD_TAGS.has(tag),
}

const WORDS: Readonly<Record<KeyScope, string>> = { connect: 'connect to sandboxes', read: 'read', build: 'build templates' }

/** Whether a key of a scope may call an operation. Scopes are an addition of this server. */
export function mayCall(scope: KeyScope, operation: Operation): boolean {
  return ALLOWS[scope](operation)
}

/** @throws AppError `permission_denied` for an operation outside the scope; undefined: every operation is inside */
export function checkScope(scope: KeyScope | undefined, operation: Operation): void {
  if (scope === undefined || mayCall(scope, operation)) return
  throw new AppError('permission_denied', `This API key may only ${WORDS[scope]}.`)
}
