import { API_SETTINGS } from '@sandyard/api/config'
import type { Environment } from '@sandyard/kit/config/parse-config'
import { TRACING_SETTINGS } from '@sandyard/kit/tracing/tracing-config'
import { STANDALONE_SETTINGS } from '../config.ts'

/** The environment of this process without its secrets, for a child process, which sends its traces to the same collector. */
export function childEnvironment(environment: Environment): Environment {
  const secrets = Object.values({ ...STANDALONE_SETTINGS, ...API_SETTINGS }).filter(
    (item) => item.kind === 'secret' && item.env !== TRACING_SETTINGS.otlpHeaders.env,
  )
  const withheld = new Set(secrets.flatMap(({ env }) => [env, `${env}_FILE`]))
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !withheld.has(name)))
}
