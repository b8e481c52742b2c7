import { posix } from 'node:path'
import type { BuilderVersion, CommandContext } from '@sandyard/db/schema/build'
import { AppError } from '@sandyard/kit/errors/app-error'
import { isKernelDirectory, NO_KERNEL_DIRECTORY } from '@sandyard/runtime/kernel-directory'
import { shorten } from '../../text/shorten.ts'
import type { BuildPlan } from '../build-plan.ts'
import type { Lookup } from './expand-variables.ts'

/** The account that every template has (control-plane.md 11.2). */
export const DEFAULT_USER = 'user'

/** All variables of a template, names included. Every process of its sandboxes gets them. */
export const MAX_ENV_BYTES = 256 * 1024

const STANDARD_PATH = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'] as const

/**
 * The context after the base was taken from an image, and after the default-user phase where there is one (control-plane.md 11.3).
 *
 * @throws AppError `failed_precondition` for an image of too many variables
 */
export function contextOfImage(env: Readonly<Record<string, string>>, version: BuilderVersion): CommandContext {
  const completed = checkSize(completePath(env))
  switch (version) {
    case 'v1':
      return { user: DEFAULT_USER, workdir: `/home/${DEFAULT_USER}`, env: completed }
    case 'v2.0.0':
      return { user: 'root', env: completed }
    case 'v2.1.0':
      return { user: DEFAULT_USER, env: completed }
  }
}

/**
 * Whom the daemon of a template takes where a request names nobody. Steps of builder v2.0.0 run as root, and what it builds is used as
 * the default user all the same, unless a step says otherwise.
 */
export function defaultUserOf(
  { source, steps }: Pick<BuildPlan, 'source' | 'steps'>,
  version: BuilderVersion,
  { user }: CommandContext,
): string {
  const isGiven = steps.some(({ type }) => type.toUpperCase() === 'USER')
  return version === 'v2.0.0' && source.kind !== 'template' && !isGiven ? DEFAULT_USER : user
}

/**
 * `pairs` are names and values in turn; a later one wins.
 *
 * @throws AppError `failed_precondition` when the environment becomes too large
 */
export function withEnv(context: CommandContext, pairs: readonly (readonly [string, string])[]): CommandContext {
  return { ...context, env: checkSize(completePath({ ...context.env, ...Object.fromEntries(pairs) })) }
}

/**
 * A relative path goes on from the directory before it, else from `/`.
 *
 * @throws AppError `failed_precondition` for a path in a tree of the kernel
 */
export function withWorkdir(context: CommandContext, path: string): CommandContext & { readonly workdir: string } {
  const resolved = posix.resolve('/', context.workdir ?? '/', path)
  if (isKernelDirectory(resolved)) throw new AppError('failed_precondition', `WORKDIR ${shorten(resolved)}: ${NO_KERNEL_DIRECTORY}`)
  return { ...context, workdir: resolved }
}

export function withUser(context: CommandContext, user: string): CommandContext {
  return { ...context, user }
}

/** The variables that the arguments of steps may name: those of the context, and what every process is given besides. */
export function variablesOf({ env, user }: CommandContext, home: string | undefined): Lookup {
  const given: Readonly<Record<string, string | undefined>> = { PATH: STANDARD_PATH.join(':'), USER: user, LOGNAME: user, HOME: home }
  return (name) => (Object.hasOwn(env, name) ? env[name] : Object.hasOwn(given, name) ? given[name] : undefined)
}

/** The directories that no PATH goes without come last where they are missing. One that is not set is the daemon's to choose. */
function completePath(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  if (env['PATH'] === undefined) return env
  const parts = env['PATH'].split(':').filter((part) => part !== '')
  return { ...env, PATH: [...parts, ...STANDARD_PATH.filter((standard) => !parts.includes(standard))].join(':') }
}

function checkSize(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const bytes = Object.entries(env).reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value) + 2, 0)
  if (bytes <= MAX_ENV_BYTES) return env
  throw new AppError('failed_precondition', `the environment of the template has more than ${MAX_ENV_BYTES / 1024} KiB`)
}
