/**
 * The same object but for some of its members. A proxy, because an object that inherits from it would lack its private fields.
 *
 * Pitfall: what the object calls of itself stays as it is.
 */
export function like<T extends object>(original: T, members: Partial<T>): T {
  return new Proxy(original, {
    get(target, name) {
      if (Object.hasOwn(members, name)) return members[name as keyof T];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
