import { useEffect, useState } from 'preact/hooks'
import type { TopicName, Topics, TopicText } from '@sandyard/dashboard-contract/live/topics'
import { addTopic } from './topic-registry.ts'

export interface TopicValue<Value> {
  /** Undefined until the first snapshot. */
  readonly value: Value | undefined
  readonly failure: { readonly code: number; readonly message: string } | undefined
}

/** The value of a topic while the component is shown. `merge` must be a function of the module: it makes a value of the former one and a patch. */
export function useTopic<Name extends TopicName>(
  topic: TopicText<Name> | undefined,
  merge: (value: Topics[Name]['snapshot'], patch: Topics[Name]['patch']) => Topics[Name]['snapshot'],
): TopicValue<Topics[Name]['snapshot']> {
  type Value = Topics[Name]['snapshot']
  const [state, setState] = useState<TopicValue<Value>>({ value: undefined, failure: undefined })
  useEffect(() => {
    if (topic === undefined) return undefined
    setState({ value: undefined, failure: undefined })
    return addTopic(topic, {
      onSnapshot: (value) => setState({ value, failure: undefined }),
      onPatch: (patch) => setState((former) => (former.value === undefined ? former : { ...former, value: merge(former.value, patch) })),
      onError: (failure) => setState((former) => ({ ...former, failure })),
    })
  }, [topic, merge])
  return state
}
