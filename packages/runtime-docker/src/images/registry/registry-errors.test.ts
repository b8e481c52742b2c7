import { describe, expect, it } from 'vitest'
import { parseImageReference } from '../image-reference.ts'
import { ecrEndpoint } from './ecr-login.ts'
import { toRegistryError } from './registry-errors.ts'

/** Errors that engines were seen to return, with the status of the answer; without one in the middle of a pull. */
const REPORTED: [string, number | undefined, string, string][] = [
  [
    'manifest unknown: manifest unknown',
    404,
    'not_found',
    "image 'team/app:v1' not found: the image or tag does not exist in the registry",
  ],
  ['manifest for team/app:v1 not found: manifest unknown', undefined, 'not_found', "image 'team/app:v1' not found: the image or tag"],
  ['name unknown: repository name not known to registry', 404, 'not_found', "repository 'team/app:v1' not found: it does not exist"],
  ['unauthorized: authentication required', 401, 'permission_denied', "access denied to 'team/app:v1': the registry refused"],
  ['Head "http://r/v2/team/app/manifests/v1": no basic auth credentials', 500, 'permission_denied', "access denied to 'team/app:v1'"],
  [
    "pull access denied for team/app, repository does not exist or may require 'docker login': denied",
    404,
    'permission_denied',
    'access denied to',
  ],
  [
    'errors:\ndenied: requested access to the resource is denied\nunauthorized: authentication required',
    403,
    'permission_denied',
    'access denied to',
  ],
  [
    'Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host',
    500,
    'unavailable',
    "the registry of 'team/app:v1' cannot",
  ],
  ['Get "https://r/v2/": x509: certificate signed by unknown authority', 500, 'unavailable', "the registry of 'team/app:v1' cannot"],
  ['toomanyrequests: You have reached your pull rate limit', 429, 'unavailable', "the registry of 'team/app:v1' has a rate limit"],
  [
    'no matching manifest for linux/amd64 in the manifest list entries',
    404,
    'failed_precondition',
    "image 'team/app:v1' does not exist for the processor",
  ],
  ['write /var/lib/docker/tmp/x: no space left on device', 500, 'insufficient_storage', 'The disk of the Docker engine is full.'],
  [
    'error parsing HTTP 404 response body: no error details found in HTTP response body: "{}"',
    500,
    'unavailable',
    "the server of 'team/app:v1' is not a registry",
  ],
  ['something else', 500, 'internal', "image 'team/app:v1' could not be pulled"],
]

describe('an error of a registry', () => {
  it.for(REPORTED)('%s', ([text, statusCode, kind, message]) => {
    const error = toRegistryError(Object.assign(new Error(text), { statusCode }), parseImageReference('team/app:v1'), true)
    expect(error).toMatchObject({ kind, message: expect.stringContaining(message) })
  })
})

describe("Amazon's endpoint", () => {
  it.for([
    ['eu-west-1', 'https://api.ecr.eu-west-1.amazonaws.com/'],
    ['cn-north-1', 'https://api.ecr.cn-north-1.amazonaws.com.cn/'],
  ])('of %s', ([region = '', url]) => {
    expect(ecrEndpoint(region)).toBe(url)
  })
})
