// Builds elements. Text becomes text nodes only: nothing that a command prints can become markup.

/**
 * @param {string} tag "button.primary" makes a button with a class
 * @param {Record<string, unknown>} attributes `on` contains listeners; false, null and undefined omit an attribute
 * @param {...(Node | string | undefined | null | false)} children
 */
export function h(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length > 0) element.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (value !== undefined && value !== false && value !== null) {
      element.setAttribute(key, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child) => child !== undefined && child !== null && child !== false));
  return element;
}

/** Changes the text only if it differs, so that an unchanged row costs nothing. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

export function byId(id) {
  return document.getElementById(id);
}
