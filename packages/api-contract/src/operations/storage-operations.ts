import type { Operation } from '../operation.ts'

/** Volumes, their content and secrets (control-plane.md 15, 16). Content operations check their own tokens. */
export const storageOperations = [
  { id: 'listVolumes', method: 'GET', path: '/volumes', auth: 'T', tag: 'volumes', whileBlocked: true },
  { id: 'createVolume', method: 'POST', path: '/volumes', auth: 'T', tag: 'volumes' },
  { id: 'getVolume', method: 'GET', path: '/volumes/{volumeID}', auth: 'T', tag: 'volumes', whileBlocked: true },
  { id: 'deleteVolume', method: 'DELETE', path: '/volumes/{volumeID}', auth: 'T', tag: 'volumes', whileBlocked: true },
  { id: 'getVolumePath', method: 'GET', path: '/volumecontent/{volumeID}/path', auth: 'none', tag: 'volume content' },
  { id: 'updateVolumePath', method: 'PATCH', path: '/volumecontent/{volumeID}/path', auth: 'none', tag: 'volume content' },
  { id: 'deleteVolumePath', method: 'DELETE', path: '/volumecontent/{volumeID}/path', auth: 'none', tag: 'volume content' },
  { id: 'listVolumeDir', method: 'GET', path: '/volumecontent/{volumeID}/dir', auth: 'none', tag: 'volume content' },
  { id: 'createVolumeDir', method: 'POST', path: '/volumecontent/{volumeID}/dir', auth: 'none', tag: 'volume content' },
  { id: 'getVolumeFile', method: 'GET', path: '/volumecontent/{volumeID}/file', auth: 'none', tag: 'volume content' },
  { id: 'putVolumeFile', method: 'PUT', path: '/volumecontent/{volumeID}/file', auth: 'none', tag: 'volume content' },
  {
    id: 'listSecrets',
    method: 'GET',
    path: '/secrets',
    auth: 'T',
    tag: 'secrets',
    summary: 'List the secrets of the team, without their values',
    whileBlocked: true,
  },
  { id: 'createSecret', method: 'POST', path: '/secrets', auth: 'T', tag: 'secrets', summary: 'Create a secret' },
  {
    id: 'getSecret',
    method: 'GET',
    path: '/secrets/{secretID}',
    auth: 'T',
    tag: 'secrets',
    summary: 'Get a secret by its id or name, without its value',
    whileBlocked: true,
  },
  { id: 'updateSecret', method: 'POST', path: '/secrets/{secretID}', auth: 'T', tag: 'secrets', summary: 'Give a secret a new value' },
  {
    id: 'deleteSecret',
    method: 'DELETE',
    path: '/secrets/{secretID}',
    auth: 'T',
    tag: 'secrets',
    summary: 'Delete a secret with all its versions',
  },
] as const satisfies readonly Operation[]
