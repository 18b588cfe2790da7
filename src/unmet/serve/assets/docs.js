// Shows the OpenAPI document of this service and lets the reader try each question.
"use strict";
(async () => {
  const root = document.getElementById("operations");
  const found = await (await fetch("/openapi.json")).json();
  const make = (tag, properties = {}, ...children) => {
    const node = document.createElement(tag);
    Object.assign(node, properties);
    node.append(...children);
    return node;
  };
  // Replace every reference by what it refers to.
  const expand = (node) => {
    if (Array.isArray(node)) return node.map(expand);
    if (node === null || typeof node !== "object") return node;
    if (node.$ref) return expand(found.components.schemas[node.$ref.split("/").pop()]);
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, expand(value)]));
  };
  // The types a parameter may have; null only says that it may be left out.
  const kinds = (schema) => (schema.anyOf ? schema.anyOf.flatMap(kinds) : [schema]).filter((one) => one.type !== "null");
  const about = (schema) => {
    const [first] = kinds(schema);
    const limits = first.minimum === undefined ? "" : `, ${first.minimum} to ${first.maximum}`;
    const fallback = schema.default === undefined || schema.default === null ? "" : `, default ${schema.default}`;
    return `${kinds(schema).map((one) => one.format || one.type).join(" or ")}${limits}${fallback}`;
  };
  const section = (path, method, operation) => {
    const body = operation.requestBody?.content["application/json"].schema.properties;
    const fields = body
      ? Object.entries(body).map(([name, schema]) => ({ name, schema, description: schema.description }))
      : operation.parameters || [];
    const inputs = new Map();
    const form = make("form", { className: "wi-form" });
    for (const one of fields) {
      const id = `${operation.operationId}-${one.name}`;
      const input = make("input", { id, required: Boolean(one.required) });
      inputs.set(one.name, [input, one.schema]);
      form.append(make("label", { htmlFor: id }, make("code", { textContent: one.name }),
        make("span", { textContent: `${one.description} (${about(one.schema)})` }), input));
    }
    form.append(make("button", { className: "try", textContent: "Try it" }));
    const result = make("pre", { tabIndex: 0, hidden: true });
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const given = [...inputs].filter(([, [input]]) => input.value !== "");
      let request;
      if (body) {
        const read = (text, type) => (type === "array" ? text.split(" ") : type === "string" ? text : Number(text));
        const values = Object.fromEntries(given.map(([name, [input, schema]]) => [name, read(input.value, kinds(schema)[0].type)]));
        request = fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(values) });
      } else {
        const query = new URLSearchParams(given.map(([name, [input]]) => [name, input.value])).toString();
        request = fetch(query ? `${path}?${query}` : path);
      }
      const response = await request;
      result.hidden = false;
      result.textContent = `${response.status} ${response.statusText}\n${JSON.stringify(await response.json(), null, 1)}`;
    });
    return make("section", { className: "op" },
      make("h2", {}, make("code", { textContent: `${method.toUpperCase()} ${path}` }), ` ${operation.description}`),
      form, result,
      make("details", {}, make("summary", { textContent: "Schema of the answer" }),
        make("pre", { textContent: JSON.stringify(operation.responses["200"].content["application/json"].schema, null, 1) })));
  };
  document.getElementById("title").textContent = `${found.info.title} ${found.info.version}: API`;
  document.getElementById("about").textContent = found.info.description;
  const paths = Object.entries(expand(found.paths));
  document.getElementById("problems").textContent = paths[0][1].get.responses.default.description;
  for (const [path, methods] of paths) {
    for (const [method, operation] of Object.entries(methods)) root.append(section(path, method, operation));
  }
})();
