import { getSpecs } from '@jupyterlab/services/lib/kernelspec/restapi.js'
import type { ServerConnection } from '@jupyterlab/services/lib/serverconnection.js'
import { within } from '@sandyard/kit/async/within'
import { toLanguage } from '../languages/languages.ts'

const TIMEOUT_MS = 20_000

/** The languages whose kernels are installed now, as contexts name them. */
export async function listLanguages(settings: ServerConnection.ISettings): Promise<readonly string[]> {
  const { kernelspecs } = await within({ what: 'the list of kernels', timeoutMs: TIMEOUT_MS }, () => getSpecs(settings))
  return Object.keys(kernelspecs)
    .map((name) => toLanguage(name))
    .sort()
}
