import { useState } from 'preact/hooks'

/** A setting of this browser. Storage may be off: then it lasts as long as the page. */
export function useRemembered<Value extends string | boolean>(name: string, first: Value): [Value, (value: Value) => void] {
  const [value, setValue] = useState<Value>(() => read(name, first))
  const change = (next: Value): void => {
    setValue(next)
    try {
      localStorage.setItem(`sandyard.${name}`, JSON.stringify(next))
    } catch {
      // Not kept.
    }
  }
  return [value, change]
}

function read<Value extends string | boolean>(name: string, first: Value): Value {
  try {
    const stored = JSON.parse(localStorage.getItem(`sandyard.${name}`) ?? 'null') as unknown
    return typeof stored === typeof first ? (stored as Value) : first
  } catch {
    return first
  }
}
