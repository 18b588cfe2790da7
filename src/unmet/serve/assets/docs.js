// Shows the OpenAPI document of this service and lets a reader try each question.
"use strict";
(async () => {
  const root = document.getElementById("operations");
  const make = (tag, properties = {}, ...children) => {
    const node = document.createElement(tag);
    Object.assign(node, properties);
    node.append(...children);
    return node;
  };
  const about = (schema) => {
    const kind = schema.anyOf ? schema.anyOf.map((one) => one.format || one.type).join(" or ") : schema.format || schema.type;
    const bounds = schema.minimum === undefined ? "" : `, ${schema.minimum} to ${schema.maximum}`;
    return `${kind}${bounds}${schema.default === undefined ? "" : `, default ${schema.default}`}`;
  };
  const section = (path, method, operation) => {
    const body = operation.requestBody?.content["application/json"].schema.properties;
    const fields = body
      ? Object.entries(body).map(([name, schema]) => ({ name, schema, description: schema.description }))
      : operation.parameters;
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
        const values = Object.fromEntries(given.map(([name, [input, schema]]) => [name, read(input.value, schema.type)]));
        request = fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(values) });
      } else {
        const query = new URLSearchParams(given.map(([name, [input]]) => [name, input.value])).toString();
        request = fetch(query ? `${path}?${query}` : path);
      }
      const response = await request;
      result.hidden = false;
      result.textContent = `${response.status} ${response.statusText}\n${JSON.stringify(await response.json(), null, 1)}`;
    });
    const answers = Object.entries(operation.responses).map(([status, one]) => `${status} ${one.description}`).join(" · ");
    return make("section", { className: "op" },
      make("h2", {}, make("code", { textContent: `${method.toUpperCase()} ${path}` }), ` ${operation.summary}`),
      form, result,
      make("p", { className: "wi-note", textContent: answers }),
      make("details", {}, make("summary", { textContent: "Schema of the answer" }),
        make("pre", { textContent: JSON.stringify(operation.responses["200"].content["application/json"].schema, null, 1) })));
  };
  const found = await (await fetch("/openapi.json")).json();
  document.getElementById("title").textContent = `${found.info.title} ${found.info.version}: API`;
  document.getElementById("about").textContent = found.info.description;
  for (const [path, methods] of Object.entries(found.paths)) {
    for (const [method, operation] of Object.entries(methods)) root.append(section(path, method, operation));
  }
})();
