import { AwsV4Signer } from 'aws4fetch'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import { outboundRequest } from '@sandyard/kit/outbound/outbound-request'
import type { RegistryCredentials } from '@sandyard/runtime/image-store'
import type { ImageReference } from '../image-reference.ts'

/** The URL at which Amazon issues passwords for its registry in a region. */
export type EcrEndpoint = (region: string) => string

export interface EcrRequest {
  readonly ecrEndpoint: EcrEndpoint
  readonly outbound: Outbound
  readonly signal: AbortSignal
}

type AwsCredentials = Extract<RegistryCredentials, { type: 'aws' }>

const REGION = /^[a-z]{2}(?:-[a-z]+)+-\d{1,2}$/
const TARGET = 'AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken'

/** China has its own domain. */
export function ecrEndpoint(region: string): string {
  return `https://api.ecr.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}/`
}

/**
 * Exchanges a key for the user name and password of the registry, which are valid for some hours.
 *
 * @throws AppError `invalid_argument` for an invalid region, `permission_denied`, `unavailable`; the abort reason
 */
export async function fetchEcrLogin(
  { text }: ImageReference,
  credentials: AwsCredentials,
  { ecrEndpoint: endpointOf, outbound, signal }: EcrRequest,
): Promise<{ username: string; password: string }> {
  const { awsAccessKeyId: accessKeyId, awsSecretAccessKey: secretAccessKey, awsRegion: region } = credentials
  if (!REGION.test(region)) throw new AppError('invalid_argument', `'${region.slice(0, 100)}' is not an AWS region.`)
  const unavailable = (cause: unknown): AppError =>
    new AppError('unavailable', `AWS did not give a password for the registry of '${text}': try again.`, { cause })
  const signer = new AwsV4Signer({
    method: 'POST',
    url: endpointOf(region),
    headers: { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': TARGET },
    body: '{}',
    accessKeyId,
    secretAccessKey,
    service: 'ecr',
    region,
  })
  const { url, headers, method } = await signer.sign()
  const request = { method, headers: Object.fromEntries(headers), body: '{}', signal }
  const answer = await outboundRequest(outbound, url, request).catch((err: unknown) => {
    signal.throwIfAborted()
    throw unavailable(err)
  })
  if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) {
    throw new AppError('permission_denied', `access denied to '${text}': AWS refused the credentials`)
  }
  const login = answer.status === 200 ? readToken(answer.text) : undefined
  if (login === undefined) throw unavailable(new Error(`status ${answer.status}`))
  return login
}

function readToken(text: string): { username: string; password: string } | undefined {
  try {
    const { authorizationData } = JSON.parse(text) as { authorizationData?: { authorizationToken?: string }[] }
    const token = Buffer.from(authorizationData?.[0]?.authorizationToken ?? '', 'base64').toString('utf8')
    const colon = token.indexOf(':')
    return colon > 0 ? { username: token.slice(0, colon), password: token.slice(colon + 1) } : undefined
  } catch {
    return undefined
  }
}
