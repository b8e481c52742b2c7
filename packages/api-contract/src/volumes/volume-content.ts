import { Type, type Static } from 'typebox'
import { DateTime } from '../times.ts'

const UINT32_MAX = 4_294_967_295

function Uint32(description: string) {
  return Type.Integer({ minimum: 0, maximum: UINT32_MAX, description })
}

const uid = Type.Optional(Uint32('Owner'))
const gid = Type.Optional(Uint32('Group'))
const mode = Type.Optional(Uint32('Permission bits, in decimal'))
const path = Type.String({ minLength: 1, description: 'Path in the volume; a missing leading "/" is added' })

/** The errors of the content of volumes: unlike others they have a text as `code` (control-plane.md 15.4). */
export const VolumeContentError = Type.Object(
  { code: Type.String({ description: 'Name of the cause' }), message: Type.String({ description: 'Error' }) },
  { title: 'VolumeContentError' },
)
export type VolumeContentError = Static<typeof VolumeContentError>

export const VolumeEntryStat = Type.Object(
  {
    name: Type.String(),
    type: Type.Unsafe<'unknown' | 'file' | 'directory' | 'symlink'>({ type: 'string', enum: ['unknown', 'file', 'directory', 'symlink'] }),
    path: Type.String(),
    size: Type.Integer({ description: 'Bytes' }),
    mode: Uint32('Permission bits'),
    uid: Uint32('Owner'),
    gid: Uint32('Group'),
    atime: DateTime('Last access'),
    mtime: DateTime('Last change of the content'),
    ctime: DateTime('Last change of the content or the metadata'),
    target: Type.Optional(Type.String({ description: 'Target of a symbolic link' })),
  },
  { title: 'VolumeEntryStat' },
)
export type VolumeEntryStat = Static<typeof VolumeEntryStat>

export const VolumePathQuery = Type.Object({ path })

export const VolumeDirQuery = Type.Object({
  path,
  depth: Type.Optional(Type.Integer({ minimum: 0, maximum: UINT32_MAX, default: 1, description: 'Levels below the directory, 1 to 10' })),
})

/** Of an entry that is made. */
export const NewVolumeEntryQuery = Type.Object({
  path,
  uid,
  gid,
  mode,
  force: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Create missing parent directories, and keep an existing directory or replace an existing file',
    }),
  ),
})

/** Body of `PATCH /volumecontent/{volumeID}/path`: only the given fields change. */
export const VolumeEntryChange = Type.Object({ uid, gid, mode }, { title: 'VolumeEntryChange' })
export type VolumeEntryChange = Static<typeof VolumeEntryChange>
