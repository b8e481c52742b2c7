import { type ContextKey, createContextKey } from '@connectrpc/connect'

/** The account that the request names, for handlers, which know nothing of HTTP (envd.md 3.4). */
export const basicUserKey: ContextKey<string | undefined> = createContextKey<string | undefined>(undefined)
