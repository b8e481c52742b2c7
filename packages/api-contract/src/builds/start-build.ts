import { Type, type Static } from 'typebox'

/** More than any client sends; each step may be a layer. */
const MAX_STEPS = 1000

/** One instruction of a build (control-plane.md 11.4). Additional keys of clients are ignored. */
export const TemplateStep = Type.Object(
  {
    type: Type.String({ description: 'Type of the step' }),
    args: Type.Optional(Type.Array(Type.String(), { default: [], description: 'Arguments for the step' })),
    filesHash: Type.Optional(Type.String({ description: 'Hash of the files used in the step' })),
    force: Type.Optional(Type.Boolean({ default: false, description: 'Run the step without the cache' })),
  },
  { title: 'TemplateStep' },
)
export type TemplateStep = Static<typeof TemplateStep>

const AwsRegistry = Type.Object(
  {
    type: Type.Literal('aws'),
    awsAccessKeyId: Type.String({ description: 'Access key ID for ECR' }),
    awsSecretAccessKey: Type.String({ description: 'Secret access key for ECR' }),
    awsRegion: Type.String({ description: 'Region of the ECR registry' }),
  },
  { title: 'AWSRegistry' },
)

const GcpRegistry = Type.Object(
  { type: Type.Literal('gcp'), serviceAccountJson: Type.String({ description: 'Key file of a service account' }) },
  { title: 'GCPRegistry' },
)

const GeneralRegistry = Type.Object(
  {
    type: Type.Literal('registry'),
    username: Type.String({ description: 'User name at the registry' }),
    password: Type.String({ description: 'Password at the registry' }),
  },
  { title: 'GeneralRegistry' },
)

type FromImageRegistry = Static<typeof AwsRegistry> | Static<typeof GcpRegistry> | Static<typeof GeneralRegistry>

/** A union by `type`, so that validation errors refer to the intended kind. */
export const FromImageRegistry = Type.Unsafe<FromImageRegistry>({
  title: 'FromImageRegistry',
  type: 'object',
  required: ['type'],
  discriminator: { propertyName: 'type' },
  oneOf: [AwsRegistry, GcpRegistry, GeneralRegistry],
})

/** Body of `POST /v2/templates/{templateID}/builds/{buildID}` (control-plane.md 10.5). */
export const TemplateBuildStartV2 = Type.Object(
  {
    fromImage: Type.Optional(Type.String({ description: 'Base image' })),
    fromTemplate: Type.Optional(Type.String({ description: 'Base template: a reference with an optional tag' })),
    fromImageRegistry: Type.Optional(FromImageRegistry),
    force: Type.Optional(Type.Boolean({ default: false, description: 'Run all steps without the cache' })),
    steps: Type.Optional(Type.Array(TemplateStep, { default: [], maxItems: MAX_STEPS, description: 'Steps in order' })),
    startCmd: Type.Optional(Type.String({ description: 'Start command to execute in the template after the build' })),
    readyCmd: Type.Optional(Type.String({ description: 'Ready check command to execute in the template after the build' })),
  },
  { title: 'TemplateBuildStartV2', description: 'Requires exactly one of fromImage and fromTemplate' },
)
export type TemplateBuildStartV2 = Static<typeof TemplateBuildStartV2>
